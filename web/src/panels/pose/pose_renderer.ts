import {
  BufferAttribute,
  BufferGeometry,
  LinearSRGBColorSpace,
  LineBasicMaterial,
  LineSegments,
  type Material,
  type Object3D,
  PerspectiveCamera,
  Points,
  PointsMaterial,
  Scene,
  WebGLRenderer,
} from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import type { Vector } from './frame.ts';
import { FIELD_OF_VIEW, type PoseProjection } from './pose_camera.ts';
import type { Segments } from './segments.ts';

/** Everything that the graphics processor draws, in the local frame. */
export interface PoseModel {
  readonly ground: Segments;
  readonly trails: readonly Segments[];
  /** The places of bodies, and the ends of their axes: lines of length 1 from 0. */
  readonly bodies: readonly { readonly place: Vector; readonly axes: Segments }[];
}

const TRAIL_WIDTH = 2;
const AXIS_WIDTH = 4;
const DOT_SIZE = 4;
/** Length of the axes of a body, and the nearest and farthest depth that is drawn, as shares of the distance to the middle. */
const AXIS_LENGTH = 0.12;
const NEAR_SHARE = 0.01;
const FAR_SHARE = 100;
/** Size of everything that is drawn, in the local frame. */
const DRAWING_SIZE = 100;
/** Layers that are drawn one above the other. */
const LAYERS = { ground: 0, trail: 1, body: 2 };

/** Draws lines with WebGL. */
export class PoseRenderer {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI, 1, 1, 2);
  private readonly materials = {
    ground: new LineBasicMaterial({ vertexColors: true, depthTest: false, depthWrite: false }),
    trail: new LineMaterial({
      vertexColors: true,
      linewidth: TRAIL_WIDTH,
      depthTest: false,
      depthWrite: false,
    }),
    dot: new PointsMaterial({
      vertexColors: true,
      size: DOT_SIZE,
      sizeAttenuation: false,
      depthTest: false,
      depthWrite: false,
    }),
    axis: new LineMaterial({ vertexColors: true, linewidth: AXIS_WIDTH }),
  };
  private shown: { readonly object: Object3D & { geometry: BufferGeometry }; readonly isBody: boolean }[] =
    [];

  constructor(
    canvas: HTMLCanvasElement,
    private readonly context: WebGL2RenderingContext,
  ) {
    this.renderer = new WebGLRenderer({ canvas, context, antialias: true, alpha: true });
    // The colors are those of the style sheet, without a conversion.
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.camera.up.set(0, 0, 1);
  }

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(devicePixelRatio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
  }

  /** Replaces what is drawn. */
  show({ ground, trails, bodies }: PoseModel): void {
    this.clear();
    this.add(new LineSegments(plain(ground.lines, ground.lineColors), this.materials.ground), LAYERS.ground);
    for (const trail of trails) {
      if (trail.lines.length > 0) this.add(wide(trail, this.materials.trail), LAYERS.trail);
      if (trail.dots.length > 0)
        this.add(new Points(plain(trail.dots, trail.dotColors), this.materials.dot), LAYERS.trail);
    }
    for (const { place, axes } of bodies) {
      const body = wide(axes, this.materials.axis);
      body.position.set(...place);
      this.add(body, LAYERS.body, true);
    }
  }

  draw(projection: PoseProjection): void {
    const { camera } = this;
    const { distance, eye, middle } = projection;
    for (const { object, isBody } of this.shown) if (isBody) object.scale.setScalar(distance * AXIS_LENGTH);
    camera.near = distance * NEAR_SHARE;
    camera.far = distance * FAR_SHARE + DRAWING_SIZE;
    camera.updateProjectionMatrix();
    camera.position.set(...eye);
    camera.lookAt(...middle);
    this.renderer.render(this.scene, camera);
  }

  /** Frees the memory of the graphics processor. */
  destroy(): void {
    this.clear();
    for (const material of Object.values<Material>(this.materials)) material.dispose();
    this.renderer.dispose();
    this.context.getExtension('WEBGL_lose_context')?.loseContext();
  }

  private add(object: Object3D & { geometry: BufferGeometry }, layer: number, isBody = false): void {
    object.renderOrder = layer;
    object.frustumCulled = false;
    this.scene.add(object);
    this.shown.push({ object, isBody });
  }

  private clear(): void {
    for (const { object } of this.shown) {
      this.scene.remove(object);
      object.geometry.dispose();
    }
    this.shown = [];
  }
}

function plain(places: Float32Array, colors: Float32Array): BufferGeometry {
  return new BufferGeometry()
    .setAttribute('position', new BufferAttribute(places, 3))
    .setAttribute('color', new BufferAttribute(colors, 3));
}

function wide({ lines, lineColors }: Segments, material: LineMaterial): LineSegments2 {
  return new LineSegments2(new LineSegmentsGeometry().setPositions(lines).setColors(lineColors), material);
}
